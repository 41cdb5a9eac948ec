/** Given names of women, mostly Hindu. Read by known-names.ts, which says how. */
export const WOMEN = `
आरती aarti arti aarthi | आराध्या aaradhya | आस्था aastha astha | आभा abha aabha | अदिति aditi
ऐश्वर्या aishwarya aiswarya aishvarya ayshwarya | आकांक्षा akanksha aakanksha akaanksha akansha
अलका alka alaka | अल्पना alpana alpna | अमिता amita ameeta amitha | अमृता amrita amruta | अनन्या ananya
अनामिका anamika anameeka | आनंदी anandi | अनीता anita aneeta annita aneetha | अंजलि anjali anjalee anjaly
अंजना anjana | अंजू anju anjoo | अंकिता ankita ankitha ankeeta | अन्नपूर्णा annapurna | अंशिका anshika
अंतरा antara | अनुराधा anuradha anooradha | अनुपमा anupama | अनुषा anusha
अनुष्का anushka anooshka anuska anoushka | अपर्णा aparna aparana | अपूर्वा apurva apoorva
अर्चना archana archna arachana | अर्पिता arpita arpitha | अरुणा aruna aroona | आशा asha aasha
अस्मिता asmita | अवनी avni avani | बबीता babita babeeta babitha | बरखा barkha barka burkha | बसंती basanti
बीना beena bina | भाग्यश्री bhagyashree bhagyashri | भारती bharati bharti
भावना bhavana bhavna bhawna bhawana | भूमिका bhumika bhoomika | बिमला bimla | चंपा champa | चंदा chanda
चांदनी chandni chandani chaandni | चंद्रिका chandrika | चारु charu | छाया chhaya chaya chaaya
चित्रा chitra | दामिनी damini daminee | दर्शना darshana | दया daya | दीपा deepa dipa deeppa diipa
दीपाली deepali dipali deepalee | दीपिका deepika dipika deepeka | दीप्ति deepti dipti | देवकी devaki
देवी devi devee | देविका devika | धनश्री dhanashree | दीक्षा diksha deeksha | दिशा disha
दिव्या divya divia dhivya | दीया diya | दृष्टि drishti | दुर्गा durga doorga dhurga
एकता ekta ekatha ekata | ईशा esha isha | गरिमा garima gareema | गौरी gauri gouri gowri gauree
गायत्री gayatri gayatree gaytri | गीता geeta gita | गीतांजलि geetanjali gitanjali | गीतिका geetika
गुलाब gulab | गुंजन gunjan goonjan | हंसा hansa | हर्षा harsha | हर्षिता harshita | हेमा hema haema hemma
हेमलता hemlata hemalata hemalatha hemlatha | हिना hina heena | इंदिरा indira indeera | इंद्राणी indrani
इंदु indu indoo indhu | इशिता ishita | जागृति jagriti jagruti jagruthi | जमुना jamuna | जानकी janaki janki
जया jaya jeya | जयंती jayanti | जयश्री jayshree jayashree jayshri jaishree | जूही juhi joohi
ज्योति jyoti jyotee joti | ज्योत्सना jyotsna jyothsna jyotsana | काजल kajal kaajal kajol | कलावती kalavati
कल्पना kalpana kalpna | कल्याणी kalyani | कमला kamala kamla kamalla | कामिनी kamini | कंचन kanchan kanchen
कनिका kanika | कांता kanta kantha | करिश्मा karishma | करुणा karuna karoona | कशिश kashish
कौशल्या kaushalya kousalya kausalya koshalya | कावेरी kaveri cauvery kavery | कविता kavita kaveeta
काव्या kavya kaviya kaavya | कीर्ति keerti kirti kirthy | खुशबू khushboo khushbu khusboo khushbo
खुशी khushi | किरणमयी kiranmayi | कोमल komal komol | कृति kriti krithi kruti
कृतिका kritika krithika kruthika krutika | क्षमा kshama | कुमारी kumari kumary kumaari | कुमुद kumud
कुसुम kusum kusam | लाजवंती lajwanti | लक्ष्मी lakshmi laxmi laxmy lakshmy luxmi lakshmee
ललिता lalita laleeta | लता lata | लावण्या lavanya lavania laavanya | लीला leela lila leila
लीलावती leelavati lilavati | लीना leena lina | माधवी madhavi madhavee madhawi | मधु madhu madhoo madu
मधुबाला madhubala | माधुरी madhuri madhury madhoori | महिमा mahima | मैथिली maithili | माला mala
मालती malati malti malathee | मालिनी malini malinee | मालविका malvika malavika
ममता mamta mamata mamtha mamatha | मंदिरा mandira | मनीषा manisha maneesha manesha manisa | मंजरी manjari
मंजू manju manjoo | मंजुला manjula manjoola | मंजूषा manjusha | मानसी mansi manasi | माया maya
मयूरी mayuri | मेधा medha | मीना meena mina miina | मीनाक्षी meenakshi minakshi minaxi meenaxi
मीनल meenal | मीरा meera mira meerra | मेघा megha mega | मेघना meghna meghana | मेनका menaka
मिथिला mithila | मोहिनी mohini mohinee | मोनिका monika monica | मृदुला mridula | मृणाल mrinal mrunal
मुक्ता mukta muktha | मुन्नी munni | नमिता namita nameeta namitha
नम्रता namrata namratha namarata namrita | नंदिनी nandini nandhini nandinee | नंदिता nandita
नर्मदा narmada | नताशा natasha | नव्या navya | नीलम neelam nilam | नीलिमा neelima nilima | नीना neena nina
नीतू neetu nitu nitoo neetoo | नेहा neha nehha naeha | निधि nidhi nidhee | निहारिका niharika
निकिता nikita nikitha | निर्मला nirmala nirmla | निरुपमा nirupama | निशा nisha neesha | नीता nita neeta
निवेदिता nivedita niveditha | नूपुर nupur | पद्मा padma padhma padama | पद्मावती padmavati
पद्मिनी padmini padminee | पल्लवी pallavi pallavee palavi | पारुल parul | पार्वती parvati parwati
पायल payal | फूलमती phoolmati | पिंकी pinky | पूजा pooja puja | पूनम poonam punam poonum punum
पूर्णिमा poornima purnima purnema | प्रभा prabha praba | प्राची prachi prachee praachi | प्रगति pragati
प्रज्ञा pragya prajna pragiya | प्राजक्ता prajakta | प्रमिला pramila | प्रणाली pranali | प्रणिता pranita
प्रतिभा pratibha prathibha pratiba | प्रतीक्षा pratiksha | प्रतिमा pratima prathima | प्रवीणा pravina
प्रेरणा prerna prerana | प्रीति preeti priti preetee | प्रिया priya preeya pria
प्रियंका priyanka preyanka | प्रियांशी priyanshi | पूर्वी purvi | पुष्पा pushpa puspa
रचना rachana rachna | राधा radha raadha | राधिका radhika raadhika radika | रागिनी ragini
रजनी rajani rajni rajanee | राजकुमारी rajkumari | राजश्री rajshree | राखी rakhi raakhi rakhee | रमा rama
रंबा ramba | रंभा rambha | रामेश्वरी rameshwari | रानी rani raani ranee | रंजना ranjana ranjna
रंजीता ranjita | रश्मि rashmi rashmee rasmi | रत्ना ratna | रीना reena rina | रीता reeta rita
रेखा rekha reka raekha | रेनू renu renoo | रेणुका renuka | रेशमा reshma resma reshama
रेवती revati rewati | ऋचा richa | रिद्धि riddhi | रितिका ritika | ऋतु ritu rithu | रिया riya
रोहिणी rohini rohinee | रूपा roopa rupa roopha | रोशनी roshni roshani roshanee | रुचि ruchi ruchee
रुचिका ruchika | रुक्मिणी rukmini rukminee | रूपाली rupali roopali | साधना sadhana sadhna saadhana
साध्वी sadhvi | साक्षी sakshi saakshi sakshee | सलोनी saloni | समीक्षा samiksha | संचिता sanchita
संध्या sandhya sandya sandhiya sandhia | संगीता sangeeta sangita | संजना sanjana | संजू sanju
संस्कृति sanskriti | संतोषी santoshi | सान्वी sanvi | सपना sapna sapana sappna | सरला sarala sarla
सरस्वती saraswati sarasvati saraswathee | सारिका sarika | सरिता sarita sareeta | सरोज saroj
सरोजिनी sarojini | सत्यवती satyavati | सौम्या saumya soumya | सविता savita saveeta
सावित्री savitri savithry | सीमा seema sima seemma | शैलजा shailaja
शकुंतला shakuntala sakuntala shakunthala | शक्ति shakti | शालिनी shalini salini shalinee | शालू shalu
शांता shanta shantha santha | शांति shanti santi shanty | शारदा sharada sharda sarada
शर्मिला sharmila sarmila sharmeela | शीला sheela shila sheila | शीतल sheetal shital seetal sital
शेफ़ाली shefali | शिखा shikha | शिल्पा shilpa silpa | शिवांगी shivangi | शिवानी shivani
शोभा shobha shoba | शोभना shobhana shobana | श्रद्धा shraddha shradha sraddha | श्रेया shreya
श्रुति shruti shruthi sruthi sruti | शुभांगी shubhangi shubhangee | श्वेता shweta sweta shwetha swetha
सीता sita seeta | सिया siya | स्मिता smita smitha smeeta | स्मृति smriti | स्नेहा sneha sneaha snehha
स्नेहल snehal | सोना sona | सोनल sonal | सोनाली sonali sonalee sonaly | सोनम sonam | सोनिया sonia soniya
सृष्टि srishti | सुभद्रा subhadra | सुचित्रा suchitra | सुधा sudha suda | सुगंधा sugandha | सुहानी suhani
सुहासिनी suhasini | सुजाता sujata sujaata | सुकन्या sukanya | सुलेखा sulekha | सुलोचना sulochana sulochna
सुमित्रा sumitra | सुमति sumati | सुनैना sunaina | सुनंदा sunanda sunandha | सुंदरी sundari
सुनीता sunita suneeta | सुप्रिया supriya | सुरभि surabhi | सुरेखा surekha sureka
सुशीला sushila susheela susila sushela | सुषमा sushma sushama susma | सुष्मिता sushmita | सुवर्णा suvarna
स्वप्ना swapna svapna | स्वरा swara | स्वर्णा swarna | स्वाति swati swathi svati swaati | तनुजा tanuja
तनुश्री tanushree | तन्वी tanvi | तान्या tanya | तारा tara taara tarra | तेजस्विनी tejaswini
तृप्ति tripti trupti truptee tripthi | उमा uma umaah ooma | उमादेवी umadevi | उर्मिला urmila oormila
उर्वशी urvashi | उषा usha oosha | वैशाली vaishali vaisali | वैष्णवी vaishnavi
वंदना vandana vandna wandana | वनिता vanita vanitha | वर्षा varsha warsha | वसंती vasanti | वसुधा vasudha
वसुंधरा vasundhara | वीणा veena vina weena | विभा vibha | विद्या vidya vidia | विजया vijaya vijeya vijaiya
विमला vimala vimla wimala | विनीता vineeta vinita | वृंदा vrinda | यामिनी yamini | यमुना yamuna yamoona
यशोदा yashoda yasoda yashodha | योगिता yogita yogitha | देबी debi | दिब्या dibya | कंचना kanchana
कबिता kabita | कुसुमा kusuma | पार्बती parbati | रितु reetu | सरोजा saroja | सबिता sabita
साबित्री sabitri | बैशाली baishali | बंदना bandana | बनिता banita | बर्षा barsha | बिजया bijaya
बिनीता binita | कोमला komala | मंज़ू manzu | पूज़ा pooza | सरोज़ saroz | बिद्या bidya
`;
