/** Given names of men, mostly Hindu. Read by known-names.ts, which says how. */
export const MEN = `
आरव aarav arav | अभय abhay abhai | अभिजीत abhijeet abhijit abhijith | अभिलाष abhilash | अभिमन्यु abhimanyu
अभिनव abhinav abhinaw | अभिषेक abhishek abhishekh abisek | अच्युत achyut
आदित्य aditya aaditya adithya adittya | अजय ajay | अजीत ajeet ajit | आकाश akash aakash aakaash akaash
अखिल akhil | अखिलेश akhilesh akhlesh akilesh | अक्षत akshat | अक्षय akshay akshai | आलोक alok aalok aloke
अमन aman | अमर amar amer | अमरनाथ amarnath | अंबिका ambika | अंबरीश ambrish | अमित amit ameet amith
अमिताभ amitabh | अमोल amol amole | अमरीश amrish | अमृत amrit | आनंद anand aanand annand | अनंत anant
अनिक anik | अनिकेत aniket | अनिल anil aneel aneal | अनिरुद्ध anirudh aniruddh anirudha aniruddha anirud
अनीश anish | अंजन anjan | अंकित ankit ankeet ankith | अंकुर ankur ankoor | अंकुश ankush | अनमोल anmol
अंशुल anshul anshool ansul | अंशुमान anshuman | अनुभव anubhav | अनुज anuj anooj anuje | अनूप anup anoop
अनुपम anupam anoopam anupum | अनुराग anurag anuraag | अर्जुन arjun arjoon | अर्णव arnav
अरुण arun aroon aarun | अरविंद arvind aravind arwind | अरबिंद arbind | आर्यन aryan | आशीष ashish aashish
अशोक ashok asok | आशुतोष ashutosh asutosh aashutosh | अश्विन ashwin ashvin asvin | अश्विनी ashwini
अतुल atul atool athul | अविनाश avinash avinaash | अवनीश avnish | आयुष ayush aayush aayus ayus | बादल badal
बद्री badri | बलदेव baldev baldeo buldev | बलराम balram balaram balraam | बलवंत balwant balvant bulwant
बंसी bansi | बसंत basant basanth | भगत bhagat | भागीरथ bhagirath | भगवान bhagwan bhagvan bhagawan
भागवत bhagwat | भरत bharat bharath bhart | भास्कर bhaskar bhasker baskar | भावेश bhavesh | भीम bhim
भोला bhola | भूपेंद्र bhupendra bhoopendra bhupender | भूषण bhushan bhooshan bhusan busan | भुवन bhuvan
बिजय bijay | बीरेंद्र birendra | बिशन bishan | ब्रजेश brajesh | बृजेश brijesh | चैतन्य chaitanya
चंदन chandan chandon chandhan | चंद्र chandra | चंद्रकांत chandrakant chandrakanth chandrkant
चंद्रशेखर chandrashekhar chandrasekhar chandrashekar chandrasekar | चेतन chetan chethan | चिंतन chintan
चिराग chirag | चिरंजीवी chiranjeevi | दामोदर damodar damodhar | दर्शन darshan darsan dharshan
दयानंद dayanand dayanandh | दयाराम dayaram | दीनदयाल deendayal | दीपक deepak dipak deepk
दीपेंद्र deependra | देव dev | देवांश devansh | देवदास devdas | देवेंद्र devendra devender debendar
देवेश devesh | देवराज devraj | धनंजय dhananjay dhananjai dhanajay | धनराज dhanraj | धरम dharam
धर्मेंद्र dharmendra dharmender dharmindra dharamendra | धर्मेश dharmesh
धीरज dhiraj dheeraj dhiraaj deeraj | धीरेंद्र dhirendra | ध्रुव dhruv | दिग्विजय digvijay
दिलीप dilip dileep dillip | दिनेश dinesh deenesh dines dhinesh | दीपेश dipesh
दिव्यांश divyansh divyaansh | दुर्गेश durgesh doorgesh durges | दुष्यंत dushyant dushyanth dusyant
द्वारका dwarka | एकनाथ eknath | ईशान eshan ishan ishaan | गगन gagan | गजानन gajanan gajanand
गजेंद्र gajendra gajender | गणेश ganesh ganes | गंगाराम gangaram | गौरव gaurav gourav
गौतम gautam gautham gowtham goutam gotam | घनश्याम ghanshyam | गिरधारी girdhari | गिरिधर giridhar
गिरीश girish gireesh giris | गोकुल gokul | गोपाल gopal gopaal | गोपीनाथ gopinath gopeenath
गोपी gopi gopy | गोविंद govind | गुलशन gulshan gulshaan gulsan | ज्ञान gyan gian jnan
ज्ञानेंद्र gyanendra gyanender gyanindra | हनुमान hanuman hanumaan | हरि hari | हरीश harish hareesh
हर्ष harsh hersh | हर्षद harshad | हर्षल harshal | हर्षवर्धन harshvardhan | हेमंत hemant hemanth
हेमराज hemraj | हिमांशु himanshu himanshoo himansu | हीरालाल hiralal heeralal | हितेश hitesh hithesh hites
हृदयेश hridayesh | ऋतिक hrithik | ईश्वर ishwar iswar eashwar | जगत jagat | जगन्नाथ jagannath jaganath
जगदीश jagdish jagadish jagadeesh jagdeesh | जयदेव jaidev | जय jai jay | जयप्रकाश jaiprakash jayprakash
जतिन jatin jateen jathin | जयंत jayant jayanth | जयेश jayesh jaiesh jayes | जीवन jeevan jivan
जिग्नेश jignesh | जितेंद्र jitendra jeetendra jitender jeetender | जितेश jitesh | जुगल jugal
कैलाश kailash kailas kailaash | कल्पेश kalpesh kalpes | कल्याण kalyan kalyaan kallyan kaliyan
कमल kamal kamaal | कमलेश kamlesh kamles | कन्हैया kanhaiya | कपिल kapil kapeel | करण karan karran
कार्तिक karthik kartik kartick karthick kaartik | काशीनाथ kashinath kasinath kasheenath
कौशल kaushal koushal kousal kausal | कौशिक kaushik koushik kausik kousik | केदार kedar | केशव keshav kesav
केतन ketan | किरण kiran keeran kirran | किशन kishan kisan kishen | किशोर kishor kishore kishoor
कृष्णा krishna krushna krisna | कुलदीप kuldeep kuldip kooldeep | कुणाल kunal kunaal kunnal koonal
कुंदन kundan | लखन lakhan | लक्ष्मण lakshman laxman luxman | ललित lalit laleet lalith | लोकेश lokesh lokes
मदन madan maden madhan | माधव madhav | मधुकर madhukar madhuker
मधुसूदन madhusudan madhusoodan madhusudhan | महादेव mahadev mahadeo | महावीर mahavir mahaveer
महेंद्र mahendra mahender | महेश mahesh mahes | महिपाल mahipal | मकरंद makarand | मानस manas
मंदार mandar | मंगल mangal | मंगेश mangesh | माणिक manik | मनीष manish maneesh manis | मनोहर manohar
मनोज manoj monoj | मनु manu | मयंक mayank maiank | मयूर mayur mayoor | मिलन milan | मिलिंद milind milindh
मिथुन mithun | मितेश mitesh | मोहन mohan mohon | मोहित mohit mohith moheet | मृदुल mridul
मुकेश mukesh mookesh mukes | मुकुल mukul | मुकुंद mukund mukundh | मुन्ना munna
मुरली murali murli muralee | नमन naman | नागेंद्र nagendra nagender | नागेश nagesh | नकुल nakul
नंदन nandan | नंदकिशोर nandkishore | नंदलाल nandlal | नारायण narayan naraian naryan
नरेंद्र narendra narender narindra | नरेश naresh nares naraesh | नरोत्तम narottam
नवीन naveen navin naween | नवनीत navneet | नीरज neeraj niraj nirraj | निहाल nihal
निखिल nikhil nikil nikheel | नीलेश nilesh neelesh | निमेश nimesh | निरंजन niranjan neeranjan | नीरव nirav
निर्मल nirmal nirmel | निशांत nishant nishanth nisant | नितेश nitesh nithesh neetesh
नितिन nitin niteen nithin | नित्यानंद nityanand | ओम om | ओंकार omkar
ओमप्रकाश omprakash omparkash omprakas | पदम padam | पंकज pankaj punkaj | पारस paras | परम param
पराग parag | परमेश्वर parmeshwar parameshwar permeshwar | पार्थ parth | परशुराम parshuram
पवन pavan pawan | पीयूष piyush peeyush piyoosh | प्रभाकर prabhakar prabhaker
प्रभात prabhat parbhat prabat | प्रभु prabhu | प्रदीप pradeep pradip pardeep | प्रद्युम्न pradyumna
प्रहलाद prahlad | प्रकाश prakash parkash prakaash | प्रमोद pramod parmod promod | प्रणव pranav pranaw
प्रणय pranay | प्रसाद prasad | प्रशांत prashant prashanth prasanth prasant | प्रसून prasoon
प्रतीक prateek pratik prateik pratheek | प्रताप pratap prathap partap | प्रवीण praveen pravin
प्रेम prem praem | प्रेमचंद premchand | पृथ्वी prithvi | पृथ्वीराज prithviraj | प्रीतम pritam
पुनीत puneet punit puneeth | पूरन puran pooran | पुरुषोत्तम purushottam purshottam purushotham
पुष्कर pushkar | पुष्पेंद्र pushpendra | राधेश्याम radheshyam | राघव raghav raghaw | रघु raghu
रघुनाथ raghunath ragunath | रघुवीर raghuveer raghuvir | राहुल rahul raahul rahool | राज raj raaj
राजा raja | राजन rajan raajan | रजत rajat | राजीव rajeev rajiv
राजेंद्र rajendra rajender rajindra rajendrra | राजेश rajesh raajesh rajes | राजकुमार rajkumar
रजनीश rajnish | राजू raju rajoo raaju | राकेश rakesh raakesh rakes | राम ram raam | रमन raman raaman
रमाकांत ramakant | रामचरण ramcharan | रामचंद्र ramchandra ramachandra ramchander | रामदास ramdas ramadas
रामदेव ramdev ramdeo | रमेश ramesh rameesh rames | रामेश्वर rameshwar rameswar rameshvar
रामकृष्ण ramkrishna | रामलाल ramlal raamlal | रामनारायण ramnarayan | रामसेवक ramsevak
रामविलास ramvilas ramvilaas | रणबीर ranbir | रंजन ranjan | रंजीत ranjeet ranjit ranjeeth ranjith
रणवीर ranveer ranvir | रतन ratan rattan rathan | रवि ravi | रविंद्र ravindra raveendra rabindra
ऋषभ rishabh | ऋषि rishi | रितेश ritesh rithesh reetesh | रोहन rohan | रोहित rohit rohith roheet
रोशन roshan rosan roshen | रुद्र rudra | रूपेश rupesh roopesh | सचिन sachin sacheen sachen
सागर sagar saagar sager | सहदेव sahadev | समीर sameer samir sammer | संपत sampat | संदेश sandesh
संदीप sandeep sandip sundeep | संजय sanjay sanjai sunjay | संजीव sanjeev sanjiv | संकेत sanket
संतोष santosh | संतराम santram | सर्वेश sarvesh | सतीश satish sateesh satheesh
सत्यजीत satyajit satyajeet sathyajit | सत्यम satyam sathyam satiam
सत्यनारायण satyanarayan sathyanarayanan | सत्येंद्र satyendra satyender satendra
सौरभ saurabh sourabh sorabh | शैलेंद्र shailendra shailender | शैलेश shailesh sailesh shylesh
शंकर shankar sankar shanker | शांतनु shantanu santanu shanthanu | शरद sharad sharadh sarad
शशांक shashank sashank sasank | शशि shashi sashi shashy | शशिकांत shashikant | शत्रुघ्न shatrughan
शेखर shekhar sekhar shekar sekar | शिशिर shishir | शिव shiv siv | शिवम shivam sivam | शिवाजी shivaji
शिवेंद्र shivendra | शिवकुमार shivkumar | शिवराज shivraj | श्रवण shravan shrawan sravan shrvan
श्रेयस shreyas | श्रीकांत shrikant | श्रीराम shriram | शुभम shubham subhum | श्याम shyam sham syam shyaam
श्यामलाल shyamlal shamlal | सिद्धार्थ siddharth sidharth siddhartha sidhartha siddarth | सिद्धेश siddhesh
सीताराम sitaram seetaram seetharam | सोहन sohan | सोमनाथ somnath somanath | सोनू sonu sonoo sonnu
श्रीनाथ srinath | श्रीनिवास srinivas sreenivas shrinivas shriniwas srinivasu
सुभाष subhash subash shubhash subhas | सुबोध subodh | सुदर्शन sudarshan | सुदेश sudesh
सुधाकर sudhakar sudhaker sudakar | सुधांशु sudhanshu | सुधीर sudhir sudheer sudeer
सुजीत sujeet sujit sujith sujeeth | सुखदेव sukhdev sukhdeo | सुमंत sumant
सुमित sumeet sumit sumith sumeeth | सुंदर sundar sunder | सुमन suman | सुनील sunil suneel soonil
सूरज suraj sooraj suroj | सुरेंद्र surendra surender surindra | सुरेश suresh soorsh sures
सूर्या surya soorya suriya | सूर्यकांत suryakant | सुशांत sushant sushanth susant
सुशील sushil susheel susil | स्वप्निल swapnil | तन्मय tanmay | तनुज tanuj | तरुण tarun taroon tharun
तेज tej | तेजस tejas thejas tejus tejash | त्रिभुवन tribhuvan | त्रिलोक trilok | तुकाराम tukaram
तुलसी tulsi tulasi | तुलसीदास tulsidas | तुषार tushar thushar tusar | उदय uday udai udhay | उज्ज्वल ujjwal
उमाकांत umakant | उमंग umang | उमेश umesh oomesh | उपेंद्र upendra upender uppendra | उत्कर्ष utkarsh
उत्तम uttam | वैभव vaibhav vaibhaw | वरुण varun waroon varoon | वसंत vasant vasanth wasant
वासुदेव vasudev wasudev | वेद ved | वेदांत vedant | विद्याधर vidyadhar | विद्यासागर vidyasagar
विजय vijay vijai wijay | विजयेंद्र vijayendra | विकास vikas vikash vikaas vicas | विक्रम vikram vickram
विक्रांत vikrant | विमल vimal | विनय vinay vinai | विनीत vineet vinit | विनोद vinod vinodh vinoth
विपिन vipin vippin | विपुल vipul vipool | विराज viraj | विराट virat
वीरेंद्र virendra veerendra virender veerender | विशाल vishal vishaal visal | विष्णु vishnu vishnoo visnu
विश्वजीत vishwajeet vishwajit viswajit vishvajeet | विश्वनाथ vishwanath viswanath vishvanath
विट्ठल vitthal vithal vittal | विवेक vivek bibek | यश yash yas | यशपाल yashpal
यशवंत yashwant yashvant yeshwant jashwant | यतिन yatin | यतेंद्र yatendra | योगेंद्र yogendra yogender
योगेश yogesh yoges jogeshwar | युवराज yuvraj yuwraj | अविजीत avijit | अभिनवा abhinava | अविषेक avishek
अक्षया akshaya | अमिताव amitav | अमिताभा amitabha | आनंदा ananda | अर्जुना arjuna | अरविंदा aravinda
अशोका ashoka | अबिनाश abinash | ब्रिजेश brejesh | देवा deva | गौरब gaurabh | गोविंदा govinda
गोबिंद gobind | गोबिंदा gobinda | हेमंता hemanta | जगन्नाथा jagannatha | जयंता jayanta | केशवा keshava
लक्ष्मणा lakshmana | माधवा madhava | महादेवा mahadeva | महाबीर mahabir | महेशा mahesha | मोहना mohana
मुकुंदा mukunda | नारायणा narayana | प्रणब pranab | प्रबीण prabin | राघवा raghava | राजीब rajeeb
संजीब sanjib sanjeeb | सत्यनारायणा satyanarayana sathyanarayana | सौरव saurav sourav | शंकरा shankara
शिवा shiva siva | सुंदरा sundara | तुकारामा tukarama | उदया udaya | उमेशा umesha | वैभवा vaibhava
वासुदेवा vasudeva | बासुदेव basudev | विक्रमा vikrama | विनया vinaya | बिष्णु bishnu
विश्वनाथा vishwanatha | विट्ठला vitthala | विवेका viveka | आरवा aarava | अभया abhaya | अंकुरा ankura
अंशुला anshula | भास्करा bhaskara | चंदना chandana | दयानंदा dayananda | दुष्यंता dushyanta
गजानना gajanana | गजिंदर gajinder | गणेशा ganesha | गिरीशा girisha | गोपाला gopala | गोपीनाथा gopinatha
हरीशा harisha | कपिला kapila | लोकेशा lokesha | मयंका mayanka | मयूरा mayura | मिलिंदा milinda
नागेशा nagesha | निरंजना niranjana | निशांता nishantha | पंकज़ pankaz | पवना pavana pawana
राजेशा rajesha | राकेशा rakesha | रतना ratana | सागरा sagara | सत्यमा satyama | शशांका shashanka
शिबम shibam | शुवम suvam | सूरज़ suraz | सुरेशा suresha | सुशांता sushanta | बिक्रमा bikrama
बिपिन bipeen | बिशाल bishal
`;
