/** Given and family names of Muslims. Read by known-names.ts, which says how. */
export const MUSLIM = `
आफ़रीन aafreen afreen | अब्बास abbas | अब्दुल abdul abdool abdual abdhul | अब्दुल्ला abdullah abdulla
आदिल adil aadil | अदनान adnan | अफ़रोज़ afroz | अफ़साना afsana | आफ़ताब aftab | अफ़ज़ल afzal
अहमद ahmad ahmed ahamad ahmmed | एजाज़ aijaz | अकबर akbar akber akbhar aqbar
अख्तर akhtar akhter akhtaar akhthar aktar | अकरम akram | आलम alam | अली ali aly alee | आलिया alia aliya
अल्ताफ़ altaf | अमीना amina ameena aminah | आमिर amir aamir ameer | अमजद amjad | अनीस anis anees
अंसारी ansari ansaree ansary | अनवर anwar anvar anwer | अरबाज़ arbaaz arbaz | आरिफ़ arif aarif areef
अरशद arshad | असद asad | अशफ़ाक ashfaq | अशरफ़ ashraf | आसिफ़ asif aasif aseef | असलम aslam asslam aslem
आयशा ayesha aisha aysha aayesha | अय्यूब ayub ayyub | आज़ाद azad | आज़म azam | अज़हर azhar
अज़ीज़ aziz azeez aziiz | बानो bano banu baano | बशीर bashir basheer | बेगम begum begam begham
बिलाल bilal bilaal | दानिश danish | दिलशाद dilshad | एहसान ehsan | फ़हीम fahim faheem
फ़ैसल faisal faysal feisal | फ़ैज़ faiz | फ़कीर fakir | फ़राह farah | फ़रहान farhan farhaan
फ़रीदा farida fareeda faridah | फ़रीदी faridi | फ़ारूक farooq faruk farukh farooque faruq farook
फ़ारूकी faruqui | फ़ातिमा fatima fatema fathima faatima fatimah | फ़िरदौस firdaus firdous
फ़िरोज़ firoz feroz firoze feroze | गुलाम ghulam gulam | हबीब habib habeeb | हाफ़िज़ hafiz hafeez
हैदर haider haidar hyder hayder | हकीम hakim hakeem | हामिद hamid hameed hamidh | हनीफ़ haneef hanif
हक haque haq | हारून haroon harun | हसन hasan hassan hassaan | हाशमी hashmi
हुसैन husain hussain hussein hussian husen hussen | इब्राहिम ibrahim ebrahim ibraheem | इफ़्तिखार iftikhar
इमरान imran imraan emran | इम्तियाज़ imtiaz imtiyaz imtiyaaz | इनायत inayat | इकबाल iqbal ikbal eqbal
इरफ़ान irfan irfaan erfan | इरशाद irshad | इशरत ishrat | इस्लाम islam islaam eslam isalam
इस्माइल ismail esmail ismael | इसरार israr | जब्बार jabbar | जाफ़र jafar jaffar | जलाल jalal | जमाल jamal
जमील jameel jamil jamiil | जावेद javed javaid jawed javeed javid | जुनैद junaid juned junaidh
कबीर kabir kabeer | कादिर kadir qadir | कैफ़ kaif | कलाम kalam | कलीम kaleem kalim
कामरान kamran kamraan qamran kaamran | करीम karim kareem karrim kareeem | काशिफ़ kashif
कौसर kausar kauser | खालिद khalid khaled khalidh kalid | खलील khaleel khalil | खान khan khaan
खातून khatun khatoon katoon | खुर्शीद khurshid khursheed khursid | लतीफ़ latif lateef latheef
लियाकत liaquat liyaqat | महमूद mahmood mehmood mahmud mehamood | मजीद majid | मलिका malika
मंसूर mansoor mansur | मकबूल maqbool | मकसूद maqsood | मरियम mariam maryam | मसूद masood masud
मौलाना maulana | महबूब mehboob mahboob | मीर meer mir | मिर्ज़ा mirza meerza
मोहम्मद mohammad mohammed mohamed mohamad mohamud mahammad mohmmad mohammod | मुहम्मद muhammad muhammed
मोहसिन mohsin mohseen mohasin muhsin | मोईन moin moeen | मुबारक mubarak | मुजाहिद mujahid
मुजीब mujeeb mujib | मुख्तार mukhtar | मुमताज़ mumtaz mumtaaz | मुराद murad | मुश्ताक mushtaq
मुस्तफ़ा mustafa mustufa | नदीम nadeem nadim nadheem | नफ़ीसा nafisa nafeesa | नगमा nagma | नजमा najma
नरगिस nargis | नसीम naseem nasim nasiim | नसीर naseer | नासिर nasir | नसरीन nasreen nasrin | नौशाद naushad
नवाब nawab | नवाज़ nawaz navaz nawaaz | नाज़िया nazia | नज़ीर nazir nazeer nazer | नाज़नीन nazneen
निलोफ़र nilofar nilofer | नियाज़ niyaz niaz | नूर noor nur nour | नुसरत nusrat | उमर omar umar
परवीन parveen parvin perveen parwin | परवेज़ parvez parwez | पठान pathan | कासिम qasim
कुरैशी qureshi kureshi quraishi qureshee kuraishi | राबिया rabia | रफ़ी rafi
रफ़ीक rafiq rafeeq rafique rafik rafeek | राहत rahat | रहीम rahim raheem rahem
रहमान rahman rehman rahaman rehmaan | रईस rais raees | राशिद rashid raashid rasid rasheedh | रशीद rasheed
रसूल rasool rasul | रऊफ़ rauf | रज़ा raza rza | रज़िया razia raziya | रेहाना rehana rehaana raihana
रिहाना rihana | रियाज़ riyaz riaz reyaz | रिज़वान rizwan rizvan rizwaan | रिज़वी rizvi | रुबीना rubina
रूही ruhi roohi | रुखसाना rukhsana ruksana rukshana roksana | रुखसार rukhsar | सबा saba | साबिर sabir
सबीहा sabiha | सबीना sabina sabeena | सबरीन sabreen | सद्दाम saddam | सादिया sadia sadiya
सादिक sadiq sadik saadiq | सफ़िया safia safiya | साहिल sahil | साहिबा sahiba | सैफ़ saif sayf
सैफ़ी saifi | सायरा saira sayra | साजिद sajid saajid | सज्जाद sajjad | सलीम salim saleem saliim
सलमा salma salmah selma | सलमान salman salmaan selman | समीना sameena samina | सना sana sanah saana
सानिया saniya sania | सरफ़राज़ sarfaraz sarfraz | सईद sayeed saeed | सैयद sayyed syed saiyad saiyed sayed
शबाना shabana sabana shabaana shabanah | शब्बीर shabbir shabir | शबनम shabnam sabnam shabnum shabanam
शफ़ी shafi | शफ़ीक shafiq shafeeq | शाहीन shaheen shahin | शहाना shahana | शाहबाज़ shahbaz
शाहिद shahid shaheed saahid | शाहिदा shahida | शाहनवाज़ shahnawaz | शहनाज़ shahnaz sahnaz shehnaz
शाहरुख shahrukh | शेख shaikh sheikh shekh shaik sheik saikh | शकील shakeel shakil sakil
शकीला shakila shakeela | शमा shama | शमीम shamim shameem samim | शमशाद shamshad | शरीफ़ sharif shareef
शौकत shaukat shoukat shokat saukat | शहज़ाद shehzad | शेर sher | शोएब shoaib
सिद्दीकी siddiqui siddiqi siddique sidiqui | सिकंदर sikandar | सिराज siraj | सोहेल sohail sohel
सुल्तान sultan sulthan sultaan | सुल्ताना sultana sulthana sooltana | सुलेमान suleman sulaiman
तबस्सुम tabassum | ताहिर tahir taher thahir | ताहिरा tahira | ताज taj | तालिब talib
तनवीर tanveer tanvir tanweer tanwir | तरन्नुम tarannum | तारिक tariq tarik taariq | तौफ़ीक taufiq taufeeq
उस्मान usman osman usmaan uthman | वाहिद wahid waheed vahid | वहीदा wahida | वाजिद wajid | वली wali
वकार waqar | वसीम waseem wasim vaseem | याकूब yakub yaqub yaqoob | यासीन yasin yaseen yassin yaasin
यासिर yasir | यास्मीन yasmeen yasmin | यूनुस yunus younus yoonus | यूसुफ़ yusuf yousuf | ज़फ़र zafar
ज़ाहिद zahid zaahid | ज़हीर zahir zaheer | ज़ैद zaid | ज़ैदी zaidi | ज़ैनब zainab | ज़ाकिर zakir zaakir
ज़रीना zarina zareena | ज़ेबा zeba | ज़ीनत zeenat zinat zeenath | ज़ीशान zeeshan zishan | ज़ोहरा zohra
ज़ोया zoya | ज़ुबैर zubair zuber | ज़ुबैदा zubeda | ज़ुल्फ़िकार zulfiqar | आमिना aameena | फिरोज़ phiroz
मिर्जा mirja | मुमताज mumtaj | मुस्तफा mustapha | परबीन parbin | रियाज riyaj | रिजवान rijwan
साज़िद sazid | सय्यद syyed | सुहैल suhail | यूसुफ yousef | जाहिद jahid | जहीर jahir | जाकिर jakir
जीनत jeenat | जुबैर jubair | अजीज ajeej ajij | फरहान pharhan | ज़मील zamil | नजीर najir | सैफ saiph syf
`;
